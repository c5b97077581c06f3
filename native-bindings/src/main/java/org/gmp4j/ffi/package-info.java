// SPDX-License-Identifier: Apache-2.0
/**
 * Calls Linux and libgmp4j for the runtime. Each class has one concern.
 *
 * <p>There are three kinds of call:
 *
 * <ul>
 *   <li>Most calls ({@link org.gmp4j.ffi.Futex}, {@link org.gmp4j.ffi.Epoll}, {@link org.gmp4j.ffi.Memory}, reads and writes) are of a
 *       function of libgmp4j that may block and returns {@code -errno}. Nothing is captured or allocated. Platform and virtual
 *       threads may call it.
 *   <li>Rare calls ({@link org.gmp4j.ffi.Sockets#listen}, {@link org.gmp4j.ffi.OsThread#setScheduler}) are of a function of libc. The call
 *       captures errno into a confined arena, and a failure becomes a {@link org.gmp4j.ffi.NativeException}.
 *   <li>Calls that return at once ({@link org.gmp4j.ffi.OsThread#gettid}, bytes of arrays in {@link org.gmp4j.ffi.SocketIo}) are by a
 *       {@code critical} downcall, which has no thread state transition. A call that may block must not skip it, because that would
 *       delay safepoints.
 * </ul>
 *
 * <p>Addresses are plain {@code long}s, and 0 is null. No method checks them. Any thread may use any class.
 */
package org.gmp4j.ffi;
