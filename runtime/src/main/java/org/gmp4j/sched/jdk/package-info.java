// SPDX-License-Identifier: Apache-2.0
/** The classes that the JDK calls: goroutines' stacks as schedulers of virtual threads, an executor of theirs, and the JDK's wake-ups. */
@NullMarked
package org.gmp4j.sched.jdk;

import org.jspecify.annotations.NullMarked;
