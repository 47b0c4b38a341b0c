"""Language models behind the OpenAI chat protocol, as annotators who are checked."""
