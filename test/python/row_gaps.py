"""Cases of test_aten_rows.py that do not agree with eager yet; one that starts to pass must
leave the list."""

# The host cannot pass lists of tensors.
ROW_GAPS = {
    f"cat-cat-{dtype}" for dtype in ("bfloat16", "bool", "float16", "float32", "float64", "int64")
}

# The gradients of an image add up in the narrow type.
ROW_GAPS |= {
    "grid_trilinear_backward-grid_sampler_3d_backward-bfloat16",
    "grid_nearest_backward-grid_sampler_2d_backward-bfloat16",
    "grid_bicubic_backward-grid_sampler_2d_backward-bfloat16",
}
