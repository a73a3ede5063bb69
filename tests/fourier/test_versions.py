import numpy as np

import uptonoise as un
from uptonoise.fourier.compiled import kernel_name
from uptonoise.fourier.versions import versions


def test_versions_name_the_kernel_and_the_packages(capsys):
    un.show_versions()
    printed = capsys.readouterr().out
    assert f"kernel        {kernel_name()}\n" in printed
    assert f"numpy         {np.__version__}\n" in printed
    assert versions()["uptonoise"] == un.__version__
