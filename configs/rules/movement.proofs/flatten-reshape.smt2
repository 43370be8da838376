; flatten-reshape: y = Flatten{axis=a}(x) => y = Reshape{dims(y)}(x)
; For all dims; 15 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[at_7, at_8, at_9, at_10, i_6]
;     and t0_1_0[at_7, at_8, at_9, at_10, i_6]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
