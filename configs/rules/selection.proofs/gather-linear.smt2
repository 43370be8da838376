; gather-linear: Gather{a}(MatMul(x, w), i), const(i), rank(i) == 1, rank(w) == 2, a < rank(x) - 1 => MatMul(Gather{a}(x, i), w)
; For all dims; 10 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!625: [(and (>= k!625 0) (< k!625 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, (ite (< (t0_4_0 i_11) 0) (+ (t0_4_0 i_11) t0_2_0_d_3) (t0_4_0 i_11)), k!625] t0_3_0[k!625, i_12]
;     and sum k!627: [(and (>= k!627 0) (< k!627 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, (ite (< (t0_4_0 i_11) 0) (+ (t0_4_0 i_11) t0_2_0_d_3) (t0_4_0 i_11)), k!627] t0_3_0[k!627, i_12]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
