; split-one: (y) = Split{a, s}(x) => y = x
; For all dims; 15 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   t0_1_0[i_6, i_7, i_8, i_9, i_10]
;     and t0_1_0[i_6, i_7, i_8, i_9, i_10]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
