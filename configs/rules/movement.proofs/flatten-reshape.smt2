; flatten-reshape: y = Flatten{axis=a}(x) => y = Reshape{dims(y)}(x)
; For all dims; 10 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[at_6, at_7, at_8, i_5]
;     and t0_1_0[at_6, at_7, at_8, i_5]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
