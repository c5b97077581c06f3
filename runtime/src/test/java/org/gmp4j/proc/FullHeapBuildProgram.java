// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.Gmp;

/** The first scheduler, when so much of the heap is left as the argument says, KB: it is made, or refused. */
final class FullHeapBuildProgram {
    private static final int KB = 1024;
    private static Object left;

    private FullHeapBuildProgram() {
    }

    public static void main(String[] args) {
        left = new byte[Integer.parseInt(args[0]) * KB];
        Ballast.fill();
        left = null;
        Throwable refused = null;
        try {
            Gmp gmp = Gmp.builder().procs(1).build();
        } catch (Throwable t) {
            refused = t;
        }
        Ballast.drop();
        System.out.println("over");
        System.err.println(refused);
        System.exit(0);
    }
}
