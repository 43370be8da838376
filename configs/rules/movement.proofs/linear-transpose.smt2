; linear-transpose: Transpose{p}(MatMul(x, w)), const(w), rank(w) == 2, p[-1] == len(p) - 1, rank(x) == len(p) => MatMul(Transpose{p}(x), w)
; For all dims; 34 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!1877: [(and (>= k!1877 0) (< k!1877 t0_2_0_d_4))] t0_2_0[i_7, i_8, i_9, i_10, k!1877] t0_3_0[k!1877, i_11]
;     and sum k!1879: [(and (>= k!1879 0) (< k!1879 t0_2_0_d_4))] t0_2_0[i_7, i_8, i_9, i_10, k!1879] t0_3_0[k!1879, i_11]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
