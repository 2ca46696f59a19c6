"""Statements made of questions.

english_forms  the forms of English verbs that turning a question into a statement needs, by table and rule
word_order     where in an English question the subject ends and what is said of it begins
statements     a question and its answer turned into a statement
"""
