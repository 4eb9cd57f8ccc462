"""QUERN_DEBUG: a folder with every stage of every graph."""
