"""The companion package of the course: from a language model's scores to an answer.

Each module builds on those above it:

Contracts
    protocols         what the parts expect of a model, a vocabulary and a cache

Texts
    arguments         numbers and paths that a caller gives, checked
    text              texts, documents and the character vocabulary
    file_lock         one writer at a time for what a long run keeps
    bpe               a vocabulary of byte sequences
    storyworld        the grammar that wrote the corpus: write, parse, log_prob
    budget            how much the long cells compute

Decoding
    eval_mode         a model as it computes when it is asked and not trained
    randomness        one uniform number for each (seed, step, sample)
    sampling          temperature, top-k, top-p, min-p, and the draw
    translate         our settings in the words of transformers, vLLM and llama.cpp
    stopping          why a text ends, and the search for stop strings

Models and their caches
    model_checks      what a model is given, checked before it computes
    bigram            a model with one row of logits for each previous token
    ngram             a model that has counted what follows the last few tokens, and backs off to fewer
    kv_cache          what a transformer keeps of the tokens that it has processed
    rotary            positions as angles
    transformer       a tiny Llama
    head_weights      where its heads look: attention weights, computed anew
    quantised_cache   the same cache with numbers of one byte
    fast_decode       the same transformer, its step for one text planned once
    speculative       a draft proposes tokens, and the model checks several in one pass
    step_cost         what one forward pass costs, counted from a model's sizes
    llama_config      a model's config.json, by any program
    checkpoint        a model and its vocabulary on disk, as other libraries store them
    gguf_file         the same model as one file for llama.cpp

From a prompt to a text
    constrained       which tokens may come next, if the text has to fit a JSON schema
    generation        from a prompt to a text: one way for every model, alone, in a batch or streamed
    serving           many texts at once: blocks of cache, shared beginnings, requests that come and go
    engines           llama.cpp beside our code: run here if it is installed, and otherwise as it was recorded
    compare_logits    the one equivalence check
    clinic            decoders with planted faults, and what tells them apart
    tool_calls        a call is read, judged, run, and its result fed back

Evaluation and training
    metrics           repetition, coherence, loss; right answers: pass@k and intervals
    comparison        did it help: differences, their intervals, the runs that they need
    evaluation        several samples become one answer; is a confidence borne out
    sweep             prompts × settings × seeds, as one table, kept in a file as results come
    training          a transformer learns the corpus; python -m course_utils.training

Pictures and panels
    plots             the still pictures
    predict           a guess beside the result
    widgets           panels: drag a slider, and see the distribution and the text move
    live              the page's Python, standard library only: a visitor's code run, checked and drawn

The checker and the learner's copies
    checker           what an exercise is, and how an attempt at it is judged
    exercises         each notebook's exercises: contracts, cases, hints
    checking          check, hint and solution, as the notebooks call them
    versions          from which version of a notebook a copy was made, and that version's exercises
    nbval_plugin      the pytest plugin: a notebook run by nbval, its exercises judged
    workspace         the learner's copies of the notebooks, JupyterLab, and a teacher's folder of submissions
"""
