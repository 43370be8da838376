; gemm-matmul: Gemm(x, w) => MatMul(x, w)
; For all dims; 1 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!14: [(and (>= k!14 0) (< k!14 t0_1_0_d_1))] t0_1_0[i_4, k!14] t0_2_0[k!14, i_5]
;     and sum k!16: [(and (>= k!16 0) (< k!16 t0_1_0_d_1))] t0_1_0[i_4, k!16] t0_2_0[k!16, i_5]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
