// SPDX-License-Identifier: Apache-2.0
/**
 * Linux and libgmp4j for the runtime, one class a concern.
 *
 * <p>Three kinds of call, chosen by what the kernel may do in them:
 *
 * <ul>
 *   <li>Often made, or may block ({@link org.gmp4j.ffi.Futex}, {@link org.gmp4j.ffi.Epoll#await}, reads and writes):
 *       a function of libgmp4j that returns {@code -errno}. Nothing is captured, nothing is allocated, and the call
 *       works from platform and virtual threads alike.
 *   <li>Rare ({@link org.gmp4j.ffi.Affinity}, {@link org.gmp4j.ffi.Memory}, socket set-up): libc, with errno captured
 *       into a confined arena of the call and turned into a {@link org.gmp4j.ffi.NativeException}.
 *   <li>Returns at once and cannot fail ({@link org.gmp4j.ffi.OsThread#gettid}): libc by a {@code critical} downcall,
 *       which skips the thread state transition. Never used for a call that may block: it would hold off safepoints.
 * </ul>
 *
 * <p>Addresses are plain {@code long}s, 0 is null; no method checks them. All classes may be used from any thread.
 */
package org.gmp4j.ffi;
