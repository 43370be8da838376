; gather-columns: Gather{a}(MatMul(x, w), i), const(i, w), rank(i) == 1, rank(w) == 2, a == rank(x) - 1 => MatMul(x, Gather{1}(w, i))
; For all dims; 3 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!121: [(and (>= k!121 0) (< k!121 t0_2_0_d_2))] t0_2_0[i_6, i_7, k!121] t0_3_0[k!121, (ite (< (t0_4_0 i_8) 0) (+ (t0_4_0 i_8) t0_3_0_d_4) (t0_4_0 i_8))]
;     and sum k!123: [(and (>= k!123 0) (< k!123 t0_2_0_d_2))] t0_2_0[i_6, i_7, k!123] t0_3_0[k!123, (ite (< (t0_4_0 i_8) 0) (+ (t0_4_0 i_8) t0_3_0_d_4) (t0_4_0 i_8))]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
