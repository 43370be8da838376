; gather-columns: Gather{a}(MatMul(x, w), i), const(i, w), rank(i) == 1, rank(w) == 2, a == rank(x) - 1 => MatMul(x, Gather{1}(w, i))
; For all dims; 4 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!173: [(and (>= k!173 0) (< k!173 t0_2_0_d_3))] t0_2_0[i_7, i_8, i_9, k!173] t0_3_0[k!173, (ite (< (t0_4_0 i_10) 0) (+ (t0_4_0 i_10) t0_3_0_d_5) (t0_4_0 i_10))]
;     and sum k!175: [(and (>= k!175 0) (< k!175 t0_2_0_d_3))] t0_2_0[i_7, i_8, i_9, k!175] t0_3_0[k!175, (ite (< (t0_4_0 i_10) 0) (+ (t0_4_0 i_10) t0_3_0_d_5) (t0_4_0 i_10))]
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
