import { totalmem } from 'node:os'

const MEGABYTE = 1024 * 1024

const shareOfMemory = (share: number, lowest: number, highest: number): string =>
  `${Math.round(Math.min(Math.max((totalmem() * share) / MEGABYTE, lowest), highest))}MB`

const always = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  log_min_error_statement: 'panic',
  jit: 'off',
  timezone: 'UTC',
}

const durable = {
  shared_buffers: shareOfMemory(1 / 8, 128, 4096),
  effective_cache_size: shareOfMemory(1 / 2, 512, 65_536),
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_connections: '100',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  random_page_cost: '1.1',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_analyze_scale_factor: '0.02',
  idle_in_transaction_session_timeout: '60s',
  track_io_timing: 'on',
}

const fast = {
  shared_buffers: '128MB',
  max_connections: '300',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  track_functions: 'all',
}

export const postgresFlags = (isDurable: boolean): string[] =>
  Object.entries({ ...always, ...(isDurable ? durable : fast) }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
