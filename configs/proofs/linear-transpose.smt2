; linear-transpose: Transpose{p}(MatMul(x, w)), const(w), rank(w) == 2, p[-1] == len(p) - 1, rank(x) == len(p) => MatMul(Transpose{p}(x), w)
; For all dims; 10 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!341: [(and (>= k!341 0) (< k!341 t0_2_0_d_3))] t0_2_0[i_6, i_7, i_8, k!341] t0_3_0[k!341, i_9]
;     and sum k!343: [(and (>= k!343 0) (< k!343 t0_2_0_d_3))] t0_2_0[i_6, i_7, i_8, k!343] t0_3_0[k!343, i_9]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
