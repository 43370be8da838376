; flatten-reshape: y = Flatten{axis=a}(x) => y = Reshape{dims(y)}(x)
; For all dims; 6 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[at_5, at_6, i_4]
;     and t0_1_0[at_5, at_6, i_4]
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
