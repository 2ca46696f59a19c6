"""Sentences made for training: templates, English word order, and statements made of questions.

english_forms  the forms of English verbs that turning a question into a statement needs: by table and rule,
               no model
word_order     the word order of English questions: where the subject ends and what is said of it begins
statements     a question and its answer turned into a statement; english_forms, word_order
"""
