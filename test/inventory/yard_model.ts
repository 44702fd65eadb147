export type Status = 'available_to_sell' | 'committed' | 'on_hold' | 'reserve' | 'incoming' | 'unavailable'

type Counts = Record<Status, number>

interface ModelShipment {
  from: number | null
  to: number | null
  status: 'unshipped' | 'shipped' | 'closed' | 'canceled' | 'deleted'
  hasShipped: boolean
  lines: [number, number]
}

interface ModelReceipt {
  shipment: ModelShipment
  item: number
  usable: number
  broken: number
  state: 'open' | 'complete'
}

interface ModelOrder {
  item: number
  quantity: number
  status: string
  isDeleted: boolean
}

const none = (): Counts => ({ available_to_sell: 0, committed: 0, on_hold: 0, reserve: 0, incoming: 0, unavailable: 0 })
const pick = <Kind>(list: Kind[], index: number): Kind | undefined => list[index % Math.max(1, list.length)]
const virtual = 2

/** What the rules of inventory say, in memory: two items at three places, of which the last is a channel's virtual one. */
export const emptyYard = () => {
  const counts: Counts[][] = [0, 1, 2].map(() => [none(), none()])
  const shipments: ModelShipment[] = []
  const receipts: ModelReceipt[] = []
  const orders: ModelOrder[] = []

  const at = (place: number, item: number): Counts => counts[place]?.[item] ?? none()
  const book = (place: number | null, item: number, status: Status, change: number) => {
    if (place === null) return
    const count = at(place, item)
    const next = count[status] + change
    count[status] = status === 'committed' || status === 'incoming' ? Math.max(0, next) : next
  }
  const receivedOf = (shipment: ModelShipment, item: number) =>
    receipts
      .filter((receipt) => receipt.shipment === shipment && receipt.item === item && receipt.state === 'complete')
      .reduce((sum, { usable, broken }) => sum + usable + broken, 0)
  const awaited = (shipment: ModelShipment, item: number) =>
    Math.max(0, (shipment.lines[item] ?? 0) - receivedOf(shipment, item))
  const bookCompletion = (receipt: ModelReceipt) => {
    const { shipment, item, usable, broken } = receipt
    const arrived = shipment.status === 'shipped' ? Math.min(usable + broken, awaited(shipment, item)) : 0
    book(shipment.to, item, 'incoming', -arrived)
    book(shipment.to, item, 'available_to_sell', usable)
    book(shipment.to, item, 'unavailable', broken)
    receipt.state = 'complete'
  }
  const held = ({ status, quantity, isDeleted }: ModelOrder) =>
    isDeleted || status === 'closed' || status === 'canceled' ? 0 : quantity
  const changeOrder = (order: ModelOrder, change: () => void) => {
    const before = held(order)
    change()
    book(virtual, order.item, 'committed', held(order) - before)
  }

  return {
    quantitiesAt: at,

    adjust(place: number, item: number, status: Status, operation: string, quantity: number): number {
      const count = at(place, item)
      const next = operation === 'SET' ? quantity : count[status] + quantity
      if (next < 0 && (status === 'committed' || status === 'incoming')) return 400
      count[status] = next
      return 200
    },

    addShipment(from: number | null, to: number | null, lines: [number, number]): number {
      shipments.push({ from, to, status: 'unshipped', hasShipped: false, lines })
      return 201
    },

    moveShipment(index: number, next: 'shipped' | 'closed' | 'canceled'): number | undefined {
      const shipment = pick(shipments, index)
      if (shipment === undefined) return undefined
      const { status, from, to } = shipment
      if (status === 'deleted' || status === next) return 200
      const its = receipts.filter((receipt) => receipt.shipment === shipment)
      if (status === 'closed' || status === 'canceled') return 409
      if (next === 'closed' && its.some(({ state }) => state === 'open')) return 409
      if (next === 'canceled' && its.some(({ state }) => state === 'complete')) return 409
      for (const item of [0, 1]) {
        const quantity = shipment.lines[item] ?? 0
        if (next === 'shipped') {
          book(from, item, 'available_to_sell', -quantity)
          book(to, item, 'incoming', awaited(shipment, item))
        } else if (status === 'shipped' && next === 'closed') {
          const rest = awaited(shipment, item)
          book(to, item, 'incoming', -rest)
          book(to, item, 'available_to_sell', rest)
        } else if (status === 'shipped') {
          book(from, item, 'available_to_sell', quantity)
          book(to, item, 'incoming', -quantity)
        }
      }
      shipment.status = next
      shipment.hasShipped ||= next === 'shipped'
      return 200
    },

    deleteShipment(index: number): number | undefined {
      const shipment = pick(shipments, index)
      if (shipment === undefined) return undefined
      if (shipment.status === 'deleted') return 204
      const hasReceipts = receipts.some((receipt) => receipt.shipment === shipment)
      if (shipment.hasShipped || hasReceipts) return 409
      shipment.status = 'deleted'
      return 204
    },

    receive(index: number, item: number, usable: number, broken: number, complete: boolean): number | undefined {
      const shipment = pick(shipments, index)
      if (shipment === undefined) return undefined
      if (shipment.status === 'deleted') return 400
      if (shipment.status === 'closed' || shipment.status === 'canceled') return 409
      if (complete && shipment.to === null) return 400
      const receipt: ModelReceipt = { shipment, item, usable, broken, state: 'open' }
      receipts.push(receipt)
      if (complete) bookCompletion(receipt)
      return 200
    },

    complete(index: number): number | undefined {
      const receipt = pick(receipts, index)
      if (receipt === undefined) return undefined
      if (receipt.state === 'complete') return 400
      if (receipt.shipment.status === 'canceled') return 409
      if (receipt.shipment.to === null) return 400
      bookCompletion(receipt)
      return 204
    },

    deleteReceipt(index: number): number | undefined {
      const receipt = pick(receipts, index)
      if (receipt === undefined) return undefined
      if (receipt.state === 'complete') return 400
      receipts.splice(receipts.indexOf(receipt), 1)
      return 204
    },

    addOrder(item: number, quantity: number): number {
      const order: ModelOrder = { item, quantity: 0, status: 'open', isDeleted: false }
      orders.push(order)
      changeOrder(order, () => {
        order.quantity = quantity
      })
      return 201
    },

    setOrderLine(index: number, quantity: number): number | undefined {
      const order = pick(orders, index)
      if (order === undefined) return undefined
      if (!order.isDeleted)
        changeOrder(order, () => {
          order.quantity = quantity
        })
      return 204
    },

    setOrderStatus(index: number, status: string): number | undefined {
      const order = pick(orders, index)
      if (order === undefined) return undefined
      if (!order.isDeleted)
        changeOrder(order, () => {
          order.status = status
        })
      return 204
    },

    deleteOrder(index: number): number | undefined {
      const order = pick(orders, index)
      if (order === undefined) return undefined
      changeOrder(order, () => {
        order.isDeleted = true
      })
      return 204
    },
  }
}

export type Yard = ReturnType<typeof emptyYard>
