"""Whether traces are good enough: evaluations of a catalogue in, a verdict out."""
