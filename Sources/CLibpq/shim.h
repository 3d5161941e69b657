#pragma once
#include <libpq-fe.h>

// The fields of an error or a notice. libpq names them by character macros, which Swift does not import.
static const int VG_DIAG_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int VG_DIAG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int VG_DIAG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY;
static const int VG_DIAG_DETAIL = PG_DIAG_MESSAGE_DETAIL;
static const int VG_DIAG_HINT = PG_DIAG_MESSAGE_HINT;
static const int VG_DIAG_TABLE = PG_DIAG_TABLE_NAME;
static const int VG_DIAG_COLUMN = PG_DIAG_COLUMN_NAME;
static const int VG_DIAG_DATATYPE = PG_DIAG_DATATYPE_NAME;
static const int VG_DIAG_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME;
