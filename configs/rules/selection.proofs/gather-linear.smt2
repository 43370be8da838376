; gather-linear: Gather{a}(MatMul(x, w), i), const(i), rank(i) == 1, rank(w) == 2, a < rank(x) - 1 => MatMul(Gather{a}(x, i), w)
; For all dims; 3 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!113: [(and (>= k!113 0) (< k!113 t0_2_0_d_2))] t0_2_0[i_6, (ite (< (t0_4_0 i_7) 0) (+ (t0_4_0 i_7) t0_2_0_d_1) (t0_4_0 i_7)), k!113] t0_3_0[k!113, i_8]
;     and sum k!115: [(and (>= k!115 0) (< k!115 t0_2_0_d_2))] t0_2_0[i_6, (ite (< (t0_4_0 i_7) 0) (+ (t0_4_0 i_7) t0_2_0_d_1) (t0_4_0 i_7)), k!115] t0_3_0[k!115, i_8]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
