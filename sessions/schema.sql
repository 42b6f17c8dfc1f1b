-- The one place where the session file's tables are declared. docs/session-format.md explains them.
-- application_id 0x5065656C ("Peel"); user_version = format version; page_size 4096.
-- Times are nanoseconds since the session's start (meta started_unix_ns says when that was).
-- Big tables hold integers only. Ids start at 1; NULL = none or unknown.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE string (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE dispatch_key (id INTEGER PRIMARY KEY, name TEXT NOT NULL, functionality_bit INTEGER, backend_bit INTEGER, slot INTEGER);
CREATE TABLE keyset (id INTEGER PRIMARY KEY, raw INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE op (id INTEGER PRIMARY KEY, name TEXT NOT NULL, overload TEXT NOT NULL, schema TEXT);
CREATE TABLE process (id INTEGER PRIMARY KEY, os_id INTEGER, parent INTEGER, name TEXT, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE thread (id INTEGER PRIMARY KEY, os_id INTEGER, process INTEGER, name TEXT);
CREATE TABLE tls (id INTEGER PRIMARY KEY, included INTEGER NOT NULL, excluded INTEGER NOT NULL, grad_mode INTEGER NOT NULL, inference_mode INTEGER NOT NULL, modes TEXT);
CREATE TABLE event_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE event_flag (bit INTEGER PRIMARY KEY, name TEXT NOT NULL, meaning TEXT NOT NULL);
-- keyset, arg_keyset: keyset.id; key: dispatch_key.id; rowid order = begin order over all threads
CREATE TABLE event (id INTEGER PRIMARY KEY, parent INTEGER, thread INTEGER, op INTEGER, kind INTEGER, key INTEGER, keyset INTEGER, arg_keyset INTEGER, tls INTEGER, kernel INTEGER, stack INTEGER, begin_ns INTEGER, end_ns INTEGER, flags INTEGER);
-- What a person changed at a hop while its thread stood there. event has what really ran; kind, key, keyset, kernel here: what it would have
-- been. All NULL: the path is what it was, and results or the thread's sets were changed.
CREATE TABLE change (event INTEGER, text TEXT, kind INTEGER, key INTEGER, keyset INTEGER, kernel INTEGER);
CREATE TABLE kernel (id INTEGER PRIMARY KEY, op INTEGER, key INTEGER, rule TEXT, convention TEXT, registered_at TEXT, fallthrough INTEGER);
CREATE TABLE table_slot (op INTEGER, slot INTEGER, kernel INTEGER, since_event INTEGER, stale INTEGER);
CREATE TABLE op_mask (op INTEGER, backend INTEGER, mask INTEGER, since_event INTEGER); -- backend NULL = all
-- All that is registered for an operator (op NULL: backend fallbacks), per version as table_slot; position 0 is the one in force.
CREATE TABLE registration (op INTEGER, key INTEGER, position INTEGER, kernel INTEGER, since_event INTEGER);
-- What PyTorch's own lists (native_functions.yaml, derivatives.yaml) say of an operator, as written there.
CREATE TABLE op_source (op INTEGER PRIMARY KEY, native_function TEXT, derivative TEXT);
CREATE TABLE op_argument (op INTEGER, position INTEGER, name TEXT, flags INTEGER, PRIMARY KEY (op, position)) WITHOUT ROWID;
-- name and value: string.id; list_index -1 = not in a list
CREATE TABLE argument (event INTEGER, position INTEGER, list_index INTEGER, name INTEGER, tensor INTEGER, meta INTEGER, version INTEGER, value INTEGER, participates INTEGER, PRIMARY KEY (event, position, list_index)) WITHOUT ROWID;
CREATE TABLE result (event INTEGER, position INTEGER, list_index INTEGER, name INTEGER, tensor INTEGER, meta INTEGER, version INTEGER, value INTEGER, participates INTEGER, PRIMARY KEY (event, position, list_index)) WITHOUT ROWID;
CREATE TABLE tensor (id INTEGER PRIMARY KEY, birth_event INTEGER, death_ns INTEGER, storage INTEGER, base INTEGER, first_event INTEGER);
-- dtype, shape, strides, device, layout, flags text by string.id (integers only); keyset: keyset.id
CREATE TABLE tensor_meta (id INTEGER PRIMARY KEY, dtype INTEGER, shape INTEGER, strides INTEGER, device INTEGER, layout INTEGER, keyset INTEGER, flags INTEGER);
CREATE TABLE "write" (event INTEGER, tensor INTEGER, storage INTEGER, version_before INTEGER, version_after INTEGER);
CREATE TABLE node (id INTEGER PRIMARY KEY, event INTEGER, name INTEGER, sequence_nr INTEGER, thread INTEGER, topological_nr INTEGER, variable INTEGER, output INTEGER, found_event INTEGER);
CREATE TABLE edge (node INTEGER, slot INTEGER, next_node INTEGER, next_input INTEGER, PRIMARY KEY (node, slot)) WITHOUT ROWID;
-- What a node keeps for backward, named as Python's getter (`_saved_self`). list_index -1 = not in a list; version: when it was saved;
-- bytes: of the whole storage that is kept alive; flags: saved_flag bits. tensor NULL: not known which (packed by a hook, or released).
CREATE TABLE saved (node INTEGER, name INTEGER, list_index INTEGER, tensor INTEGER, meta INTEGER, version INTEGER, bytes INTEGER, flags INTEGER);
CREATE TABLE saved_flag (bit INTEGER PRIMARY KEY, name TEXT NOT NULL, meaning TEXT NOT NULL);
INSERT INTO saved_flag VALUES (1,'output','an output of the node, kept as its data'),(2,'packed','packed by saved_tensors_hooks'),(4,'released','released by backward before the recorder met the node'),(8,'inside','saved by the node that a CopySlices runs');
CREATE TABLE node_run (id INTEGER PRIMARY KEY, node INTEGER, event INTEGER, graph_task INTEGER, cause INTEGER);
CREATE TABLE stack (id INTEGER PRIMARY KEY, parent INTEGER, file INTEGER, line INTEGER, function INTEGER);
CREATE TABLE span (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, detail TEXT, thread INTEGER, begin_event INTEGER, end_event INTEGER, parent INTEGER, begin_ns INTEGER, end_ns INTEGER, stack INTEGER, object INTEGER);
CREATE TABLE source (path TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
CREATE TABLE output (time_ns INTEGER, stream INTEGER, text TEXT, after_event INTEGER); -- stream 1 = stdout, 2 = stderr
CREATE TABLE error (event INTEGER, type TEXT, message TEXT);
CREATE TABLE loss (name TEXT PRIMARY KEY, count INTEGER, meaning TEXT) WITHOUT ROWID;
-- Allocator history, names and meaning as PyTorch's snapshot. action: memory_action.id; device (`cuda:0`, `cpu`) and pool (`(0, 0)`,
-- NULL = the default pool): string.id; stream: the stream's handle, 0 = default. size: as PyTorch's trace has it (alloc and free_*: bytes
-- asked for; segment_*: bytes of the segment; oom: bytes asked for). address: of the block, segment or range. event: the innermost hop
-- open on that thread, NULL = outside of any; stack: its own Python stack where there is no hop. storage: tensor.storage that lives in
-- the block, NULL = none was seen. free: oom only, bytes that the device had left. CPU memory has alloc and free_completed only.
CREATE TABLE memory_action (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE memory_event (id INTEGER PRIMARY KEY, event INTEGER, thread INTEGER, stack INTEGER, time_ns INTEGER, action INTEGER, device INTEGER, address INTEGER, size INTEGER, stream INTEGER, pool INTEGER, storage INTEGER, free INTEGER);
-- What an allocator held at a memory_event of action snapshot (the first is the start of the recording: what lies there is older than it).
-- segment_type (`large`, `small`), state (`active_allocated`, `active_pending_free`, `inactive`): string.id.
CREATE TABLE segment (snapshot INTEGER, device INTEGER, address INTEGER, total_size INTEGER, allocated_size INTEGER, active_size INTEGER, requested_size INTEGER, stream INTEGER, segment_type INTEGER, pool INTEGER, is_expandable INTEGER);
CREATE TABLE block (snapshot INTEGER, segment INTEGER, address INTEGER, size INTEGER, requested_size INTEGER, state INTEGER); -- segment: its address
CREATE TABLE bookmark (event INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE note (id INTEGER PRIMARY KEY, event INTEGER, text TEXT);

-- GPU activity. Names and columns as in Nsight Systems' SQLite export, so that queries written for it run; `event` is added: the
-- hop that asked for it. Names: string.id (StringIds); globalPid: os pid << 24; globalTid: that + os thread id. Empty without a GPU.
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER, memKind INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER, event INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER, event INTEGER);
-- Memory that CUDA itself gave out (cudaMalloc, cudaMallocAsync and their like), and its memory pools. Written for whole processes, PyTorch's
-- caching allocator asking for a segment among them. localMemoryPoolAddress: 0 = of no pool. Times are `start`; sizes are bytes.
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name INTEGER, correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER, event INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, operationType INTEGER, poolType INTEGER, correlationId INTEGER, minBytesToKeep INTEGER, localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER, event INTEGER);
-- A node of a CUDA graph by CUPTI's number, as graphNodeId above; origin: the node it is a copy of; event: the hop that captured it.
CREATE TABLE graph_node (id INTEGER, origin INTEGER, event INTEGER);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_MEMPOOL_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_MEMPOOL_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES (0,'CUDA_DEV_MEM_EVENT_OPR_ALLOCATION','Allocation'),(1,'CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION','Deallocation');
INSERT INTO ENUM_CUDA_MEMPOOL_OPER VALUES (1,'CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED','Created'),(2,'CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED','Destroyed'),(3,'CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED','Trimmed');
INSERT INTO ENUM_CUDA_MEMPOOL_TYPE VALUES (1,'CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL','Local'),(2,'CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED','Imported');
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),(3,'CUDA_MEMCPY_KIND_HTOA','Host-to-Array'),(4,'CUDA_MEMCPY_KIND_ATOH','Array-to-Host'),(5,'CUDA_MEMCPY_KIND_ATOA','Array-to-Array'),(6,'CUDA_MEMCPY_KIND_ATOD','Array-to-Device'),(7,'CUDA_MEMCPY_KIND_DTOA','Device-to-Array'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),(3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'),(4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed'),(5,'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC','Device Static'),(6,'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC','Managed Static'),(7,'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN','Unknown');
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (0,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN','Unknown'),(1,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE','Event sync'),(2,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT','Stream wait'),(3,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE','Stream sync'),(4,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE','Context sync');
CREATE VIEW StringIds AS SELECT id, value FROM string;

CREATE VIEW frame AS SELECT s.id, s.parent, f.value AS file, s.line, n.value AS function
  FROM stack s LEFT JOIN string f ON f.id = s.file LEFT JOIN string n ON n.id = s.function;
CREATE VIEW hop AS SELECT e.id, e.parent, e.thread,
    CASE WHEN o.overload IS NULL OR o.overload = '' THEN o.name ELSE o.name || '.' || o.overload END AS op,
    k.name AS kind, d.name AS key, s.text AS keyset, e.begin_ns, e.end_ns, e.stack, f.value AS file, st.line AS line
  FROM event e LEFT JOIN op o ON o.id = e.op LEFT JOIN event_kind k ON k.id = e.kind
    LEFT JOIN dispatch_key d ON d.id = e.key LEFT JOIN keyset s ON s.id = e.keyset
    LEFT JOIN stack st ON st.id = e.stack LEFT JOIN string f ON f.id = st.file;
CREATE VIEW autograd_node AS SELECT n.id, n.event,
    CASE WHEN o.overload IS NULL OR o.overload = '' THEN o.name ELSE o.name || '.' || o.overload END AS op,
    s.value AS name, n.sequence_nr, n.thread, n.topological_nr
  FROM node n LEFT JOIN string s ON s.id = n.name LEFT JOIN event e ON e.id = n.event LEFT JOIN op o ON o.id = e.op;
CREATE VIEW saved_tensor AS SELECT v.node, n.event, w.value AS node_name,
    s.value AS name, v.list_index, v.tensor, d.value AS dtype, sh.value AS shape, v.version, v.bytes, v.flags
  FROM saved v LEFT JOIN node n ON n.id = v.node LEFT JOIN string w ON w.id = n.name LEFT JOIN string s ON s.id = v.name
    LEFT JOIN tensor_meta m ON m.id = v.meta LEFT JOIN string d ON d.id = m.dtype LEFT JOIN string sh ON sh.id = m.shape;
CREATE VIEW call_argument AS SELECT a.event,
    CASE WHEN o.overload IS NULL OR o.overload = '' THEN o.name ELSE o.name || '.' || o.overload END AS op,
    a.position, a.list_index, n.value AS name, a.tensor, d.value AS dtype, sh.value AS shape, st.value AS strides,
    dv.value AS device, k.text AS keyset, a.version, v.value AS value
  FROM argument a LEFT JOIN event e ON e.id = a.event LEFT JOIN op o ON o.id = e.op LEFT JOIN string n ON n.id = a.name
    LEFT JOIN tensor_meta m ON m.id = a.meta LEFT JOIN string d ON d.id = m.dtype LEFT JOIN string sh ON sh.id = m.shape
    LEFT JOIN string st ON st.id = m.strides LEFT JOIN string dv ON dv.id = m.device LEFT JOIN keyset k ON k.id = m.keyset
    LEFT JOIN string v ON v.id = a.value;
