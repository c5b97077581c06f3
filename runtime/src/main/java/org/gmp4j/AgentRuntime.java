// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.agent.DefaultStart;
import org.gmp4j.boot.Support;
import org.jspecify.annotations.Nullable;

/** The runtime as the agent starts it. In a JVM that is not supported it loads only a few classes. */
final class AgentRuntime implements DefaultStart.Runtime {
    static {
        DefaultStart.use(new AgentRuntime());
    }

    private AgentRuntime() {
    }

    @Override
    public @Nullable String unsupported() {
        return Support.problem();
    }

    @Override
    public void makeDefault() {
        DefaultGmp.makeIfWanted();
    }
}
