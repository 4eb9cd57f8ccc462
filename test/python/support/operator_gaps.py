"""Entries of the operator database that fail, each with the reason. An entry that
passes must leave this list: the tests see to it."""

SPARSE = "torch.compile takes no sparse tensors"
HOST = "its shape or its result's depends on values, and Dynamo does not trace that"
DEVICE = "the entry needs a GPU"
PAST = "the entry reads past the end of its input, where a copy of it has nothing"
WARNS = "the entry warns inside the function, which Dynamo does not trace"
REFUSED = "Dynamo does not trace this operator"

GAPS = {
    "allclose": HOST,
    "as_strided.partial_views": PAST,
    "combinations": HOST,
    "corrcoef": HOST,
    "cov": HOST,
    "equal": HOST,
    "geqrf": REFUSED,
    "histogram": REFUSED,
    "histogramdd": REFUSED,
    "jiterator_2inputs_2outputs": DEVICE,
    "jiterator_4inputs_with_extra_args": DEVICE,
    "jiterator_binary": DEVICE,
    "jiterator_binary_return_by_ref": DEVICE,
    "jiterator_unary": DEVICE,
    "linalg.eig": "eager refuses the gradient of these values as well",
    "linalg.lstsq": HOST,
    "linalg.lstsq.grad_oriented": HOST,
    "nn.functional.ctc_loss": HOST,
    "nn.functional.gaussian_nll_loss": HOST,
    "nn.functional.linear_cross_entropy.chunked": WARNS,
    "nn.functional.linear_cross_entropy.chunked_none": WARNS,
    "resize_": REFUSED,
    "resize_as_": REFUSED,
    "sparse.mm.reduce": SPARSE,
    "sparse.sampled_addmm": SPARSE,
    "tensor_split": HOST,
    "to_sparse": SPARSE,
}

# Entries that end the process: not run until the cause is mended.
CRASHES: set[str] = set()
