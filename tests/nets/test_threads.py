"""Small work is done by one thread."""

import torch

from uptonoise.nets.threads import threads_for


def test_small_work_has_one_thread():
    before = torch.get_num_threads()
    with threads_for(1_000):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
