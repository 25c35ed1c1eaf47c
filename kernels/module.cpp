// The extension module `neuralkdb._kernels`: every kernel file registers its own functions.
#include "kernels.hpp"

NB_MODULE(_kernels, module) {
    module.doc() = "The loops over rows, cells and embeddings.";
    bind_encoding(module);
    bind_summaries(module);
    bind_discretization(module);
    bind_embedding(module);
    bind_embedding_training(module);
    bind_counting(module);
    bind_tables(module);
    bind_information(module);
    bind_scoring(module);
    bind_parent_sets(module);
    bind_parent_set_scoring(module);
    bind_context_trees(module);
    bind_context_tree_terms(module);
    bind_regressions(module);
    bind_weighting(module);
    bind_offsets(module);
    bind_losses(module);
}
