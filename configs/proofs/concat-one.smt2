; concat-one: Concat{a}(x) => x
; For all dims; 10 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   [(and (>= i_7 0) (< i_7 (+ 0 t0_1_0_d_3)))] t0_1_0[i_4, i_5, i_6, i_7]
;     and t0_1_0[i_4, i_5, i_6, i_7]
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (and (>= n0 0) (< n0 n1)))
(assert (not (and (>= n0 0) (< n0 (+ 0 n1)))))
(check-sat)
(pop)
