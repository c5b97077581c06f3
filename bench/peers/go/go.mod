// SPDX-License-Identifier: Apache-2.0
module gmp4j.org/peers

go 1.27
