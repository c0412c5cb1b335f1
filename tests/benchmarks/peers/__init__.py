"""What others find on the same questions, with the same model, in the same run."""
