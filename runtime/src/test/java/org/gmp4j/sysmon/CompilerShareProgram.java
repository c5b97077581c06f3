// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.gmp4j.ffi.CompilerThreads;

/** Gives all threads of a JVM C2's nice value, and prints what each has then. */
final class CompilerShareProgram {
    private static final int NICE = 7;

    private CompilerShareProgram() {
    }

    private static String of(int[] ids) {
        return Arrays.stream(ids).map(CompilerThreads::nice).filter(CompilerThreads::isNice).boxed()
                .collect(Collectors.toCollection(TreeSet::new)).stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    public static void main(String[] args) throws Exception {
        CompilerShare.setCompilers(NICE);
        System.out.println("optimizing " + of(CompilerThreads.optimizing()));
        CompilerShare.setOthers(NICE);
        System.out.println("others " + of(CompilerThreads.allIds()));
        Thread t = new Thread(() -> System.out.println("new thread " + CompilerThreads.nice(0)));
        t.start();
        t.join();
        Process p = new ProcessBuilder("nice").start();
        System.out.println("new process " + new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip());
    }
}
