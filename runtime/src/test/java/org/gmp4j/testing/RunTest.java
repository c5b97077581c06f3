// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import static org.junit.platform.commons.support.ReflectionSupport.findMethods;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.PrintWriter;

import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs one test method in a JVM of its own, for {@code .ci/Mutants.java}: exit 0 passed, 1 failed, 3 there is none. */
final class RunTest {
    private static final int FAILED = 1;
    private static final int NONE = 3;

    private RunTest() {
    }

    /** The argument is {@code package.Class#method}. */
    public static void main(String[] args) throws ClassNotFoundException {
        String[] name = args[0].split("#");
        Class<?> test = Class.forName(name[0]);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(findMethods(test, m -> m.getName().equals(name[1]), HierarchyTraversalMode.TOP_DOWN).stream()
                        .map(m -> selectMethod(test, m)).toList())
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        var summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.err, true));
        int exit = summary.getTotalFailureCount() > 0 ? FAILED : summary.getTestsSucceededCount() == 0 ? NONE : 0;
        Runtime.getRuntime().halt(exit); // A test that failed may have left threads behind.
    }
}
