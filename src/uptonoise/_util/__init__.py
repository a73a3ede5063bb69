"""Tools that know nothing of the subject: types, checks of arguments, wording, seeds, threads, files."""
