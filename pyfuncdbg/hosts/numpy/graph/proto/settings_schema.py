"""The messages of settings and reports, such as ConfigProto and RunMetadata, for `messages`. No state."""
from __future__ import annotations

SCHEMA = '''ConfigProto 1 map<string,int32> device_count; 2 int32 intra_op_parallelism_threads; 5 int32 \
inter_op_parallelism_threads; 9 bool use_per_session_threads; 12 *ThreadPoolOptionProto session_inter_op_thread_pool; \
3 int32 placement_period; 4 *string device_filters; 6 GPUOptions gpu_options; 18 GPUOptions pluggable_device_options; \
7 bool allow_soft_placement; 8 bool log_device_placement; 10 GraphOptions graph_options; 11 int64 \
operation_timeout_in_ms; 14 ClusterDef cluster_def; 15 bool isolate_session_state; 17 bool \
share_cluster_devices_in_session; 16 ConfigProto.Experimental experimental
ThreadPoolOptionProto 1 int32 num_threads; 2 string global_name
GPUOptions 1 double per_process_gpu_memory_fraction; 4 bool allow_growth; 2 string allocator_type; 3 int64 \
deferred_deletion_bytes; 5 string visible_device_list; 6 int32 polling_active_delay_usecs; 7 int32 \
polling_inactive_delay_msecs; 8 bool force_gpu_compatible
GraphOptions 2 bool enable_recv_scheduling; 3 OptimizerOptions optimizer_options; 4 int64 build_cost_model; 9 int64 \
build_cost_model_after; 5 bool infer_shapes; 6 bool place_pruned_graph; 7 bool enable_bfloat16_sendrecv; 8 int32 \
timeline_step; 10 RewriterConfig rewrite_options
OptimizerOptions 1 bool do_common_subexpression_elimination; 2 bool do_constant_folding; 6 int64 \
max_folded_constant_in_bytes; 4 bool do_function_inlining; 3 OptimizerOptions.Level opt_level; 5 \
OptimizerOptions.GlobalJitLevel global_jit_level; 7 bool cpu_global_jit
RewriterConfig 50 RewriterConfig.CpuLayout cpu_layout_conversion; 1 RewriterConfig.Toggle layout_optimizer; 3 \
RewriterConfig.Toggle constant_folding; 13 RewriterConfig.Toggle shape_optimization; 14 RewriterConfig.Toggle \
remapping; 24 RewriterConfig.Toggle common_subgraph_elimination; 7 RewriterConfig.Toggle arithmetic_optimization; 8 \
RewriterConfig.Toggle dependency_optimization; 9 RewriterConfig.Toggle loop_optimization; 10 RewriterConfig.Toggle \
function_optimization; 11 RewriterConfig.Toggle debug_stripper; 2 bool disable_model_pruning; 15 RewriterConfig.Toggle \
scoped_allocator_optimization; 18 RewriterConfig.Toggle pin_to_host_optimization; 22 RewriterConfig.Toggle \
implementation_selector; 23 RewriterConfig.Toggle auto_mixed_precision; 25 RewriterConfig.Toggle \
auto_mixed_precision_mkl; 31 RewriterConfig.Toggle auto_mixed_precision_onednn_bfloat16; 29 RewriterConfig.Toggle \
auto_mixed_precision_cpu; 19 bool disable_meta_optimizer; 32 bool disable_tfg_optimizer; 28 RewriterConfig.Toggle \
use_plugin_optimizers; 30 RewriterConfig.Toggle experimental_conditional_code_motion; 12 \
RewriterConfig.NumIterationsType meta_optimizer_iterations; 17 int32 min_graph_nodes; 26 bool \
experimental_disable_compressed_tensor_optimization; 27 bool experimental_disable_folding_quantization_emulation; 4 \
RewriterConfig.MemOptType memory_optimization; 6 string memory_optimizer_target_node_name_scope; 20 int64 \
meta_optimizer_timeout_ms; 21 bool fail_on_optimizer_errors; 100 *string optimizers
ConfigProto.Experimental 1 string collective_group_leader; 3 string executor_type; 4 int32 recv_buf_max_chunk; 5 bool \
use_numa_affinity; 6 bool collective_deterministic_sequential_execution; 7 bool collective_nccl; 8 bool \
share_session_state_in_clusterspec_propagation; 9 bool disable_thread_spinning; 10 bool \
share_cluster_devices_in_session; 11 SessionMetadata session_metadata; 12 bool optimize_for_static_graph; 13 bool \
enable_mlir_bridge; 17 ConfigProto.Experimental.MlirBridgeRollout mlir_bridge_rollout; 16 bool \
enable_mlir_graph_optimization; 14 bool disable_output_partition_graphs; 15 int64 xla_fusion_autotuner_thresh; 18 bool \
use_tfrt; 27 bool enable_multi_host; 32 bool tfrt_use_ifrt; 28 int32 backend_server_port; 29 bool target_tpu; 30 bool \
target_gpu; 31 int32 stream_merge_threshold; 21 bool disable_functional_ops_lowering; 22 bool \
xla_prefer_single_graph_cluster; 24 bool disable_optimize_for_static_graph; 26 bool \
disable_eager_executor_streaming_enqueue; 33 bool finalize_function_library_runtime; 34 bool \
finalize_resource_manager; 35 string tf2xla_dump_dir; 36 bool online_cost_analysis
SessionMetadata 1 string name; 2 int64 version
RunOptions 1 RunOptions.TraceLevel trace_level; 2 int64 timeout_in_ms; 3 int32 inter_op_thread_pool; 5 bool \
output_partition_graphs; 7 bool report_tensor_allocations_upon_oom; 8 RunOptions.Experimental experimental
RunOptions.Experimental 1 int64 collective_graph_key; 2 bool use_run_handler_pool; 3 \
RunOptions.Experimental.RunHandlerPoolOptions run_handler_pool_options
RunOptions.Experimental.RunHandlerPoolOptions 1 int64 priority
RunMetadata 1 StepStats step_stats; 3 *GraphDef partition_graphs; 5 SessionMetadata session_metadata
StepStats 1 *DeviceStepStats dev_stats
DeviceStepStats 1 string device; 2 *NodeExecStats node_stats; 3 map<uint32,string> thread_names
NodeExecStats 1 string node_name; 2 int64 all_start_micros; 3 int64 op_start_rel_micros; 4 int64 op_end_rel_micros; 5 \
int64 all_end_rel_micros; 6 *AllocatorMemoryUsed memory; 7 *NodeOutput output; 8 string timeline_label; 9 int64 \
scheduled_micros; 10 uint32 thread_id; 12 MemoryStats memory_stats; 13 int64 all_start_nanos; 14 int64 \
op_start_rel_nanos; 15 int64 op_end_rel_nanos; 16 int64 all_end_rel_nanos; 17 int64 scheduled_nanos
AllocatorMemoryUsed 1 string allocator_name; 2 int64 total_bytes; 3 int64 peak_bytes; 4 int64 live_bytes; 6 \
*AllocationRecord allocation_records; 5 int64 allocator_bytes_in_use
AllocationRecord 1 int64 alloc_micros; 2 int64 alloc_bytes
NodeOutput 1 int32 slot; 3 TensorDescription tensor_description
TensorDescription 1 DataType dtype; 2 TensorShapeProto shape
MemoryStats 1 int64 temp_memory_size; 3 int64 persistent_memory_size; 5 *int64 persistent_tensor_alloc_ids; 2 int64 \
device_temp_memory_size; 4 int64 device_persistent_memory_size; 6 *int64 device_persistent_tensor_alloc_ids
'''
"""As in `messages`: a message a line."""
ENUMS = {
    'OptimizerOptions.Level': 'L1=0 L0=-1',
    'OptimizerOptions.GlobalJitLevel': 'DEFAULT=0 OFF=-1 ON_1=1 ON_2',
    'RewriterConfig.CpuLayout': 'NO_CONVERSION_ON_CPU=0 NCHW_TO_NHWC NHWC_TO_NCHW',
    'RewriterConfig.Toggle': 'DEFAULT=0 ON OFF AGGRESSIVE EXPERIMENTAL_MLIR EXPERIMENTAL_BOTH',
    'RewriterConfig.NumIterationsType': 'DEFAULT_NUM_ITERS=0 ONE TWO',
    'RewriterConfig.MemOptType': 'DEFAULT_MEM_OPT=0 NO_MEM_OPT MANUAL SWAPPING_HEURISTICS=4 '
                                 'RECOMPUTATION_HEURISTICS SCHEDULING_HEURISTICS HEURISTICS=3',
    'ConfigProto.Experimental.MlirBridgeRollout': 'MLIR_BRIDGE_ROLLOUT_UNSPECIFIED=0 MLIR_BRIDGE_ROLLOUT_ENABLED '
                                                  'MLIR_BRIDGE_ROLLOUT_DISABLED',
    'RunOptions.TraceLevel': 'NO_TRACE=0 SOFTWARE_TRACE HARDWARE_TRACE FULL_TRACE',
}
