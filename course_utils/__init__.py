"""The companion package of the course: from a language model's scores to an answer.

Each module builds on those above it:

    text              texts, documents and the character vocabulary
    bpe               a vocabulary of byte sequences
    storyworld        the grammar that wrote the corpus: write, parse, log_prob
    budget            how much the long cells compute
    arguments         numbers that a caller gives, checked
    eval_mode         a model as it computes when it is asked and not trained
    randomness        one uniform number for each (seed, step, sample)
    sampling          temperature, top-k, top-p, min-p, and the draw
    translate         our settings in the words of transformers, vLLM and llama.cpp
    protocols         what the parts expect of a model, a vocabulary and a cache
    bigram            a model with one row of logits for each previous token
    kv_cache          what a transformer keeps of the tokens that it has processed
    transformer       a tiny Llama
    step_cost         what one forward pass costs, counted from a model's sizes
    checkpoint        a model and its vocabulary on disk, as other libraries store them
    stopping          why a text ends, and the search for stop strings
    generation        from a prompt to a text: one way for every model, alone, in a batch or streamed
    serving           many texts at once: blocks of cache, shared beginnings, requests that come and go
    compare_logits    the one equivalence check
    clinic            decoders with planted faults, and what tells them apart
    tool_calls        a call is read, judged, run, and its result fed back
    metrics           repetition, coherence, loss; right answers: pass@k and intervals
    comparison        did it help: differences, their intervals, the runs that they need
    sweep_store       the file of a sweep: results kept as they come
    sweep             prompts × settings × seeds, as one table
    training          a transformer learns the corpus; python -m course_utils.training
    plots             the still pictures
    predict           a guess beside the result
    widgets           panels: drag a slider, and see the distribution and the text move
    checker           what an exercise is, and how an attempt at it is judged
    exercises         each notebook's exercises: contracts, cases, hints
    checking          check, hint and solution, as the notebooks call them
    course_notebooks  a notebook file as data: which one it is, its exercises' cells
    nbval_kernel      the kernel that runs a notebook for the plugin, watched
    nbval_items       nbval's cells, judged by what was checked
    nbval_report      the pytest plugin: options, verdicts, the table
    workspace         the learner's copies of the notebooks, and JupyterLab
"""
