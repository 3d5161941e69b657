-- SPDX-License-Identifier: Apache-2.0
-- Copyright the versiongate authors
--
-- The fuse of a lockout: it opens where more of an app's checks are locked out than was meant.

SET LOCAL search_path = public, pg_temp;
