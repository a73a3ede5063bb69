"""The paper's two-sample tests."""
