// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.gmp4j.classfile.Opcodes.*;

import org.gmp4j.classfile.ClassFileWriter;

/**
 * Writes the class file of the runtime's poller, a hidden class in the nest of {@code sun.nio.ch.Poller}. In Java it would be
 *
 * <pre>
 * public final class GmpPoller extends Poller {
 *     private final Poller jdk;              // the JDK's poller that this one replaces
 *     private final IntPredicate register;   // registers a descriptor with the runtime; false: the JDK's poller has to do it
 *     private final IntPredicate deregister; // the reverse; false: the JDK's poller had registered it
 *
 *     public GmpPoller(Poller jdk, IntPredicate register, IntPredicate deregister) { ... }
 *     &#64;DontInline
 *     public void implRegister(int fd) throws IOException { if (!register.test(fd)) jdk.implRegister(fd); }
 *     &#64;DontInline
 *     public void implDeregister(int fd, boolean polled) { if (!deregister.test(fd)) jdk.implDeregister(fd, polled); }
 *     public int poll(int timeout) throws IOException { return jdk.poll(timeout); }
 *     public void close() throws IOException { jdk.close(); } // From JDK 27 on.
 * }
 * </pre>
 *
 * <p>In JDK 27 the names of the first two methods are {@code implStartPoll} and {@code implStopPoll}.
 */
final class PollerClass {
    static final String NAME = "sun/nio/ch/GmpPoller";

    private static final String POLLER = "sun/nio/ch/Poller";
    private static final String A_POLLER = "L" + POLLER + ";";
    private static final String PREDICATE = "java/util/function/IntPredicate";
    private static final String A_PREDICATE = "L" + PREDICATE + ";";
    private static final int PUBLIC = 0x0001;
    /**
     * Keeps C2 from inlining a method. Otherwise C2 would inline the whole park of a goroutine into each of the JDK's reads, writes and
     * accepts. A server that has just started would wait for these long compilations.
     */
    private static final String DONT_INLINE = "Ljdk/internal/vm/annotation/DontInline;";

    private PollerClass() {
    }

    /**
     * Returns the class file.
     *
     * @param startPoll the name of the method by which a poller begins to watch a descriptor
     * @param stopPoll the name of the method by which it stops watching
     * @param closes whether the JDK's class has a method {@code close}
     */
    static byte[] bytes(String startPoll, String stopPoll, boolean closes) {
        ClassFileWriter c = new ClassFileWriter(NAME, POLLER);
        int jdk = c.addFinal("jdk", A_POLLER);
        int register = c.addFinal("register", A_PREDICATE);
        int deregister = c.addFinal("deregister", A_PREDICATE);
        int parent = c.method(POLLER, "<init>", "()V");
        c.addMethod(PUBLIC, "<init>", "(" + A_POLLER + A_PREDICATE + A_PREDICATE + ")V", 2, 4, -1,
                new int[] {ALOAD_0, INVOKESPECIAL, parent >> 8, parent, ALOAD_0, ALOAD_1, PUTFIELD, jdk >> 8, jdk, ALOAD_0,
                        ALOAD_2, PUTFIELD, register >> 8, register, ALOAD_0, ALOAD_3, PUTFIELD, deregister >> 8, deregister,
                        RETURN});

        int test = c.interfaceMethod(PREDICATE, "test", "(I)Z");
        int its = c.method(POLLER, startPoll, "(I)V");
        c.addMethod(PUBLIC, startPoll, "(I)V", 2, 2, 21,
                new int[] {ALOAD_0, GETFIELD, register >> 8, register, ILOAD_1, INVOKEINTERFACE, test >> 8, test, 2, 0, IFNE,
                        0, 11, ALOAD_0, GETFIELD, jdk >> 8, jdk, ILOAD_1, INVOKEVIRTUAL, its >> 8, its, RETURN},
                DONT_INLINE);
        its = c.method(POLLER, stopPoll, "(IZ)V");
        c.addMethod(PUBLIC, stopPoll, "(IZ)V", 3, 3, 22,
                new int[] {ALOAD_0, GETFIELD, deregister >> 8, deregister, ILOAD_1, INVOKEINTERFACE, test >> 8, test, 2, 0,
                        IFNE, 0, 12, ALOAD_0, GETFIELD, jdk >> 8, jdk, ILOAD_1, ILOAD_2, INVOKEVIRTUAL, its >> 8, its,
                        RETURN},
                DONT_INLINE);
        its = c.method(POLLER, "poll", "(I)I");
        c.addMethod(PUBLIC, "poll", "(I)I", 2, 2, -1,
                new int[] {ALOAD_0, GETFIELD, jdk >> 8, jdk, ILOAD_1, INVOKEVIRTUAL, its >> 8, its, IRETURN});
        if (closes) {
            its = c.method(POLLER, "close", "()V");
            c.addMethod(PUBLIC, "close", "()V", 1, 1, -1,
                    new int[] {ALOAD_0, GETFIELD, jdk >> 8, jdk, INVOKEVIRTUAL, its >> 8, its, RETURN});
        }
        return c.toBytes();
    }
}
