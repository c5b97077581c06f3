// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.gmp4j.ffi.CompilerThreads;

/** Gives threads of a JVM nice values, and prints how much more than C2's first one they have then. None is lowered: that takes a right. */
final class CompilerShareProgram {
    private static final int LESS = 1;
    private static final int INHERITED = 2;
    private static final int USUAL = 3;
    private static final int ALL = 4;

    private static int first;

    private CompilerShareProgram() {
    }

    private static String of(int... ids) {
        return Arrays.stream(ids).map(CompilerThreads::nice).filter(CompilerThreads::isNice).map(n -> n - first).boxed()
                .collect(Collectors.toCollection(TreeSet::new)).stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    private static int[] c1() {
        Set<Integer> c2 = Arrays.stream(CompilerThreads.optimizing()).boxed().collect(Collectors.toSet());
        return Arrays.stream(CompilerThreads.ids()).filter(id -> !c2.contains(id)).toArray();
    }

    private static void print(String when) {
        System.out.println(when + ": C2 " + of(CompilerThreads.optimizing()) + ", C1 " + of(c1()));
    }

    public static void main(String[] args) throws Exception {
        first = CompilerThreads.nice(CompilerThreads.optimizing()[0]);
        CompilerShare.giveWay(first, first + LESS);
        print("gives way");
        for (int id : c1()) {
            boolean _ = CompilerThreads.setNice(id, first + INHERITED);
        }
        CompilerShare.giveWay(first + USUAL, first + INHERITED); // C2's value is neither of these.
        print("inherited");
        CompilerShare.stopGivingWay(first + ALL, first + USUAL);
        print("in the end");
        CompilerShare.setOthers(first + ALL);
        System.out.println("others " + of(CompilerThreads.allIds()));
        Thread t = new Thread(() -> System.out.println("new thread " + of(0)));
        t.start();
        t.join();
        Process p = new ProcessBuilder("nice").start();
        String nice = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        System.out.println("new process " + (Integer.parseInt(nice) - first));
    }
}
