; split-one: (y) = Split{a, s}(x) => y = x
; For all dims; 10 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   t0_1_0[i_5, i_6, i_7, i_8]
;     and t0_1_0[i_5, i_6, i_7, i_8]
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
