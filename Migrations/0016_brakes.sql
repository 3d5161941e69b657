-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- Less at once: what a role may do that can only take messages and lockouts away.

SET LOCAL search_path = public, pg_temp;
