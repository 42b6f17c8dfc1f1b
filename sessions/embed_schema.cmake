# Writes schema.sql as `kSchemaSql` into a header.
file(READ ${IN} text)
file(WRITE ${OUT} "// Generated from schema.sql.\n#pragma once\nnamespace peel {\ninline constexpr const char* kSchemaSql = R\"peel_sql(${text})peel_sql\";\n}\n")
