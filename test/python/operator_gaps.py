"""Entries of the operator database that fail, each with the reason. An entry that
passes must leave this list: the tests see to it."""

SPARSE = "torch.compile takes no sparse tensors"
HOST = "the result depends on values and is no tensor"
DEVICE = "the entry needs a GPU"
WARNS = "the entry warns inside the function, which Dynamo does not trace"
REFUSED = "Dynamo does not trace this operator"
UNEVEN = "AOTAutograd does not trace this operator's backward"

GAPS = {
    "allclose": HOST,
    "as_strided.partial_views": "fails while it runs",
    "combinations": "refused while tracing",
    "corrcoef": "refused while tracing",
    "cov": "refused while tracing",
    "equal": "refused while tracing",
    "geqrf": "refused while tracing",
    "histogram": "refused while tracing",
    "histogramdd": "refused while tracing",
    "jiterator_2inputs_2outputs": "fails while it runs",
    "jiterator_4inputs_with_extra_args": "fails while it runs",
    "jiterator_binary": DEVICE,
    "jiterator_binary_return_by_ref": "fails while it runs",
    "jiterator_unary": DEVICE,
    "linalg.eig": "fails while it runs",
    "linalg.lstsq": "refused while tracing",
    "linalg.lstsq.grad_oriented": "fails while it runs",
    "nn.functional.ctc_loss": "fails while it runs",
    "nn.functional.gaussian_nll_loss": "fails while it runs",
    "nn.functional.interpolate.nearest": "fails while it runs",
    "nn.functional.interpolate.nearest-exact": "fails while it runs",
    "nn.functional.linear_cross_entropy.chunked": "fails while it runs",
    "nn.functional.linear_cross_entropy.chunked_none": WARNS,
    "nn.functional.upsample_nearest": "fails while it runs",
    "nonzero": "fails while it runs",
    "resize_": "refused while tracing",
    "resize_as_": REFUSED,
    "sparse.mm.reduce": SPARSE,
    "sparse.sampled_addmm": SPARSE,
    "take": "refused while tracing",
    "tensor_split": UNEVEN,
    "to_sparse": "refused while tracing",
}

# Entries that end the process: not run until the cause is mended.
CRASHES: set[str] = set()
