// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Prints which scheduler's threads run virtual threads with certain names, with the setting pools. */
final class PoolsProgram {
    private PoolsProgram() {
    }

    public static void main(String[] args) throws Exception {
        Gmp _ = Gmp.makeDefault();
        run("request-1", () -> {
            say();
            run("batch-1", () -> {
                say();
                run("", PoolsProgram::say);
                run("request-2", PoolsProgram::say);
            });
            run("report", PoolsProgram::say);
            run("reports", PoolsProgram::say);
            run("export-7", PoolsProgram::say);
        });
        run("", PoolsProgram::say);
        run("batch-2", PoolsProgram::say);
        try (ExecutorService e = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("batch-", 3).factory())) {
            e.submit(PoolsProgram::say).get();
        }
    }

    private static void run(String name, Runnable r) {
        try {
            Thread.ofVirtual().name(name).start(r).join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void say() {
        String all = Thread.currentThread().toString();
        System.out.println(Thread.currentThread().getName() + " " + all.substring(all.lastIndexOf('@') + 1).replaceFirst("-M\\d+$", ""));
    }
}
