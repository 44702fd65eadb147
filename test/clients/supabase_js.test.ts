import { createClient } from '@supabase/supabase-js'
import { describe, expect, test } from 'vitest'
import { startLading } from '../harness/lading.ts'

const lading = await startLading()
const business_id = lading.a.id

const clientFor = (key: string) =>
  createClient(lading.baseUrl, lading.applicationKey, {
    global: { headers: { Authorization: `Bearer ${key}` } },
    auth: { persistSession: false, autoRefreshToken: false },
  })

const client = clientFor(lading.a.key)
const other = clientFor(lading.b.key)

const skus = Array.from({ length: 12 }, (_, n) => `S-${String(n + 1).padStart(2, '0')}`)

describe('insert', () => {
  test('one record, with what was stored', async () => {
    const { data, error, status } = await client
      .from('locations')
      .insert({ business_id, name: 'Hall' })
      .select('name, is_virtual')
      .single()
    expect({ data, error, status }).toEqual({ data: { name: 'Hall', is_virtual: false }, error: null, status: 201 })
  })

  test('many records', async () => {
    const { error, status } = await client
      .from('inventory_items')
      .insert(skus.map((sku, n) => ({ business_id, sku, title: `Item ${n + 1}`, legacy_id: n + 1 })))
    expect({ error, status }).toEqual({ error: null, status: 201 })
  })

  test('what is refused is an error with code and message, not an exception', async () => {
    const { data, error, status } = await client.from('locations').insert({ business_id, name: 'Hall' }).select()
    expect({ data, status, code: error?.code }).toEqual({ data: null, status: 409, code: '23505' })
  })
})

describe('select', () => {
  test('with filters, order and range', async () => {
    const { data, error } = await client
      .from('inventory_items')
      .select('sku')
      .gte('legacy_id', 3)
      .like('sku', 'S-%')
      .neq('sku', 'S-05')
      .order('sku', { ascending: false })
      .range(1, 3)
    expect(error).toBeNull()
    expect(data).toEqual([{ sku: 'S-11' }, { sku: 'S-10' }, { sku: 'S-09' }])
  })

  test('with a count', async () => {
    const { count, data } = await client.from('inventory_items').select('*', { count: 'exact' }).limit(2)
    expect(count).toBe(12)
    expect(data).toHaveLength(2)
    const head = await client.from('inventory_items').select('*', { count: 'exact', head: true })
    expect(head.count).toBe(12)
  })

  test('in, or, is, contains', async () => {
    const among = await client.from('inventory_items').select('sku').in('sku', ['S-01', 'S-02', 'none']).order('sku')
    expect(among.data).toEqual([{ sku: 'S-01' }, { sku: 'S-02' }])
    const either = await client.from('inventory_items').select('sku').or('sku.eq.S-03,legacy_id.gt.11').order('sku')
    expect(either.data).toEqual([{ sku: 'S-03' }, { sku: 'S-12' }])
    const none = await client.from('inventory_items').select('sku').is('title', null)
    expect(none.data).toEqual([])
    const contains = await client.from('inventory_items').select('sku').contains('external_ids', { erp: '1' })
    expect(contains).toMatchObject({ error: null, data: [] })
  })

  test('maybeSingle is null when there is none', async () => {
    const { data, error } = await client.from('locations').select('*').eq('name', 'nowhere').maybeSingle()
    expect({ data, error }).toEqual({ data: null, error: null })
  })
})

describe('embedding, over the composite keys', () => {
  test('an order with its lines, their items and its channel', async () => {
    const channel = await client.from('channels').insert({ business_id, name: 'Shop' }).select('id').single()
    const order = await client
      .from('orders')
      .insert({ business_id, channel_id: channel.data?.id, purchase_order_number: 'PO-1' })
      .select('id')
      .single()
    const item = await client.from('inventory_items').select('id').eq('sku', 'S-01').single()
    await client.from('order_line_items').insert([
      { business_id, order_id: order.data?.id, inventory_item_id: item.data?.id, quantity: 2 },
      { business_id, order_id: order.data?.id, quantity: 1 },
    ])

    const whole = await client.from('orders').select('*,order_line_items(*)').eq('id', order.data?.id)
    expect(whole.error).toBeNull()
    expect(whole.data?.[0]?.order_line_items).toHaveLength(2)

    const { data, error } = await client
      .from('orders')
      .select('purchase_order_number, channels(name), order_line_items(quantity, inventory_items(sku))')
      .eq('channels.name', 'Shop')
      .order('quantity', { referencedTable: 'order_line_items' })
    expect(error).toBeNull()
    expect(data).toEqual([
      {
        purchase_order_number: 'PO-1',
        channels: { name: 'Shop' },
        order_line_items: [
          { quantity: 1, inventory_items: null },
          { quantity: 2, inventory_items: { sku: 'S-01' } },
        ],
      },
    ])
  })

  test('shows nothing of another business', async () => {
    const { data, error } = await other.from('orders').select('*,order_line_items(*)')
    expect({ data, error }).toEqual({ data: [], error: null })
    const { data: own } = await other.from('businesses').select('id, orders(id), inventory_items(sku)')
    expect(own).toEqual([{ id: lading.b.id, orders: [], inventory_items: [] }])
  })
})

describe('upsert', () => {
  test('with onConflict changes what is there and adds what is not', async () => {
    const { data, error } = await client
      .from('inventory_items')
      .upsert(
        [
          { business_id, sku: 'S-01', title: 'Renamed' },
          { business_id, sku: 'S-13', title: 'Added' },
        ],
        { onConflict: 'business_id,sku' },
      )
      .select('sku, title, legacy_id')
      .order('sku')
    expect(error).toBeNull()
    expect(data).toEqual([
      { sku: 'S-01', title: 'Renamed', legacy_id: 1 },
      { sku: 'S-13', title: 'Added', legacy_id: null },
    ])
  })

  test('with ignoreDuplicates leaves what is there', async () => {
    const { data } = await client
      .from('inventory_items')
      .upsert({ business_id, sku: 'S-01', title: 'Ignored' }, { onConflict: 'business_id,sku', ignoreDuplicates: true })
      .select()
    expect(data).toEqual([])
    const stored = await client.from('inventory_items').select('title').eq('sku', 'S-01').single()
    expect(stored.data).toEqual({ title: 'Renamed' })
  })
})

test('update changes what the filter finds', async () => {
  const { data, error } = await client
    .from('inventory_items')
    .update({ upc: '42' })
    .in('sku', ['S-02', 'S-03'])
    .select('sku, upc')
    .order('sku')
  expect(error).toBeNull()
  expect(data).toEqual([
    { sku: 'S-02', upc: '42' },
    { sku: 'S-03', upc: '42' },
  ])
})

test('delete removes what the filter finds', async () => {
  const { error, status } = await client.from('inventory_items').delete().eq('sku', 'S-12')
  expect({ error, status }).toEqual({ error: null, status: 204 })
  expect((await client.from('inventory_items').select('sku').eq('sku', 'S-12')).data).toEqual([])
})

describe('rpc', () => {
  test('answers what the call answers', async () => {
    const { data, error } = await client.rpc('verify_inventory', { business_id })
    expect({ data, error }).toEqual({ data: [], error: null })
  })

  test('a refusal is an error with its message', async () => {
    const { error, status } = await client.rpc('create_api_key', { business_id, name: '' })
    expect(status).toBe(400)
    expect(error).toMatchObject({ code: 'P0001', message: 'name: is required' })
  })
})

test('a foreign business is not there: nothing seen, changed or removed', async () => {
  expect((await other.from('inventory_items').select('*')).data).toEqual([])
  expect((await other.from('inventory_items').update({ title: 'Theirs' }).eq('sku', 'S-01').select()).data).toEqual([])
  expect((await other.from('inventory_items').delete().eq('sku', 'S-01').select()).data).toEqual([])
  expect((await other.from('inventory_items').insert({ business_id, sku: 'X' })).status).toBe(403)
  expect((await other.rpc('verify_inventory', { business_id })).status).toBe(400)
  expect((await client.from('inventory_items').select('title').eq('sku', 'S-01').single()).data).toEqual({
    title: 'Renamed',
  })
})

test('a revoked key is refused from the next call on', async () => {
  const issued = await client.rpc('create_api_key', { business_id, name: 'short lived' })
  const revoked = clientFor(issued.data.key)
  expect((await revoked.from('orders').select('id')).status).toBe(200)
  expect((await client.rpc('revoke_api_key', { id: issued.data.id })).error).toBeNull()
  const { data, error, status } = await revoked.from('orders').select('id')
  expect({ data, status }).toEqual({ data: null, status: 401 })
  expect(error?.message).toBe('Header Authorization: unknown or revoked API key')
})

test('without an API key the application key acts for nobody: 401', async () => {
  const bare = createClient(lading.baseUrl, lading.applicationKey, { auth: { persistSession: false } })
  expect((await bare.from('orders').select('id')).status).toBe(401)
})
