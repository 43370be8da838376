"""`regraft experiment` and `regraft report`: descriptions, runs, tables, plots and pages. See README.md here."""
