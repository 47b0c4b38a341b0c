"""The bridge to Label Studio."""
