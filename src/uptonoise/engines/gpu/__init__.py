"""Rows on a GPU; what needs torch at once stays in its own modules."""

from uptonoise.engines.gpu.cuda import on_device, tensor_bags, tensor_features
