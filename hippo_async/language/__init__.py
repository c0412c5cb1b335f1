"""What is known of languages: tables of words, no code that decides."""
