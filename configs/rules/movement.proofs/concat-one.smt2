; concat-one: Concat{a}(x) => x
; For all dims; 15 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   [(and (>= i_9 0) (< i_9 (+ 0 t0_1_0_d_4)))] t0_1_0[i_5, i_6, i_7, i_8, i_9]
;     and t0_1_0[i_5, i_6, i_7, i_8, i_9]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (and (>= n0 0) (< n0 n1)))
(assert (not (and (>= n0 0) (< n0 (+ 0 n1)))))
(check-sat)
(pop)
