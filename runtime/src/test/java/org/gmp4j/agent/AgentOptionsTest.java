// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

import org.junit.jupiter.api.Test;

/** How the agent's argument is split where values have commas. */
class AgentOptionsTest {
    @Test
    void pools() {
        AgentOptions.of("default,pools=a:match=x-*:procs=1,b:match=y|z:spin=latency:50us,procs=2").setProperties();
        try {
            assertEquals("a:match=x-*:procs=1,b:match=y|z:spin=latency:50us", System.getProperty("gmp.default.pools"));
            assertEquals("2", System.getProperty("gmp.default.procs"));
        } finally {
            for (String name : List.of("gmp.default", "gmp.default.pools", "gmp.default.procs")) {
                System.clearProperty(name);
            }
        }
    }
}
